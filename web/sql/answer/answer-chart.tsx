// The chart of an answer.

import { useState } from 'preact/hooks';
import { figure, plural } from '../../../platform/words/figures.ts';
import { BarList } from '../../charts/bar-list.tsx';
import { TimeChart } from '../../charts/time-chart.tsx';
import { Select } from '../../fields/field.tsx';
import type { RowsAnswer } from '../statement-client.ts';
import { type AnswerChart as Chart, chartOfAnswer } from './chart-of-answer.ts';

export function AnswerChart(props: {
  answer: Pick<RowsAnswer, 'columns' | 'rows'>;
  wants?: 'lines' | 'bars';
  label?: string;
  /** In px. */
  height?: number;
}) {
  const { answer, wants, label = 'Answer over time', height } = props;
  const chart = chartOfAnswer(answer, wants);
  switch (chart.kind) {
    case 'none':
      return <p class="hint">{chart.why}</p>;
    case 'lines':
      return (
        <>
          <TimeChart
            label={label}
            labels={chart.labels}
            lines={chart.lines}
            format={figure}
            style="moment"
            isTile
            {...(height !== undefined && { height })}
          />
          {chart.leftOut > 0 ? (
            <p class="hint">Shown are the greatest; {plural(chart.leftOut, 'line')} are not.</p>
          ) : null}
        </>
      );
    case 'bars':
      return <Bars chart={chart} />;
    default:
      return chart satisfies never;
  }
}

function Bars({ chart }: { chart: Extract<Chart, { kind: 'bars' }> }) {
  const { names, figures, leftOut } = chart;
  const [chosen, choose] = useState('');
  const shown = figures.find(({ name }) => name === chosen) ?? figures[0];
  if (shown === undefined) return null;
  return (
    <>
      {figures.length > 1 ? (
        <Select
          label="Figure"
          value={shown.name}
          options={figures.map(({ name }) => ({ value: name, name }))}
          onValue={choose}
        />
      ) : null}
      <BarList
        label={shown.name}
        bars={names.map((name, at) => ({ name, value: shown.values[at] ?? 0 }))}
        format={figure}
        total={0}
      />
      {leftOut > 0 ? <p class="hint">{plural(leftOut, 'further row')} are in the table.</p> : null}
    </>
  );
}
