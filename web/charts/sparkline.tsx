/** A small line without axes: decoration beside a figure that says the same. Twelve hundredths of it are air. */
export function Sparkline({ values }: { values: readonly number[] }) {
  if (values.length === 0) return <svg class="spark" aria-hidden="true" />;
  const most = Math.max(1, ...values);
  const step = 100 / Math.max(1, values.length - 1);
  const points = values.map(
    (value, index) => `${(index * step).toFixed(1)},${(30 - (value / most) * 26).toFixed(1)}`,
  );
  return (
    <svg class="spark" viewBox="0 0 100 32" preserveAspectRatio="none" aria-hidden="true">
      <path class="spark-area" d={`M0,32 L${points.join(' L')} L100,32 Z`} />
      <path class="spark-line" d={`M${points.join(' L')}`} />
    </svg>
  );
}
