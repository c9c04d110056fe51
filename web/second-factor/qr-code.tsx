// A text as a QR code. Its maker is loaded when one is first shown.

import { useEffect, useState } from 'preact/hooks';

export function QrCode({ text, label }: { text: string; label: string }) {
  const [rows, setRows] = useState<boolean[][]>([]);
  useEffect(() => {
    let isGone = false;
    import('qr').then(
      ({ encodeQR }) => {
        if (!isGone) setRows(encodeQR(text, 'raw', { ecc: 'medium', border: 4 }));
      },
      // The secret stands beside it.
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, [text]);
  const path = rows
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return (
    <svg
      class="qr-code"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${rows.length || 1} ${rows.length || 1}`}
      shape-rendering="crispEdges"
    >
      <rect width="100%" height="100%" fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
