// The results as one self-contained page: a picture of where an event's CPU goes, the goals, the gain of each trick,
// and every table behind them. A function of the results, so that page and results cannot differ.

import type { Table } from './bench.ts';
import { drawChains, stageColumns } from './chain-picture.ts';
import type { Machine } from './harness/machine.ts';
import { drawTable, escapeHtml } from './html.ts';
import { goalTable } from './read-goals.ts';
import type { Result } from './results.ts';

/** An HTML document, light or dark as its reader has it, without scripts. */
export function drawReport(results: readonly Result[]): string {
  const tablesOf = (bench: string): readonly Table[] =>
    results.find((result) => result.bench === bench)?.tables ?? [];
  const chains = [...tablesOf('stages'), ...tablesOf('end-to-end').flatMap(wholeChain)];
  const sections = [
    section('Where the CPU goes', drawChains(chains)),
    section('Goals', drawTable(goalTable(results))),
    section('Tricks', tablesOf('tricks').map(drawTable).join('')),
    section('All results', results.map(drawResult).join('')),
  ];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Millrace: benches</title>
<style>${style}</style>
<h1>Millrace: benches</h1>
<p>${escapeHtml(machinesOf(results))} What is asked and how it is measured is in
<a href="MEASURED.md">MEASURED.md</a>, what would be unfair in <a href="README.md">README.md</a>.</p>
${sections.join('\n')}
</html>
`;
}

/** The whole service's table of CPU by process, or by `process: stage`, as a chain. */
function wholeChain({ title, columns, rows }: Table): Table[] {
  const us = columns.indexOf('us/event');
  if (columns[0] !== 'process' || us < 0) return [];
  const parts = rows.map((row) => {
    const [process = '', stage = process] = (row[0] ?? '').split(': ');
    return [stage, process, row[us] ?? ''];
  });
  return [{ title: `The whole service. ${title}`, columns: stageColumns, rows: parts }];
}

function section(title: string, content: string): string {
  return `<section><h2>${title}</h2>${content}</section>`;
}

function drawResult({ bench, question, seconds, machine, tables, resultHash }: Result): string {
  const day = machine.takenAt.slice(0, 16).replace('T', ' ');
  const facts = `${day} UTC, load average before it ${machine.loadAverage}, ${seconds} s, result ${resultHash.slice(0, 16)}`;
  return `<details><summary><b>${escapeHtml(bench)}</b> ${escapeHtml(question)}</summary>
<p class="facts">${escapeHtml(facts)}</p>${tables.map(drawTable).join('')}</details>`;
}

/** One sentence a machine; nearly always there is one. */
function machinesOf(results: readonly Result[]): string {
  const sentences = results.map(({ machine }) => describe(machine));
  return [...new Set(sentences)].join(' ');
}

function describe(machine: Machine): string {
  const { cores, processor, memoryGiB, node, natsServer, chdb } = machine;
  return `Taken on ${cores} cores (${processor}), ${memoryGiB} GiB, Node ${node}, nats-server ${natsServer}, chDB ${chdb}.`;
}

const style = `
:root { color-scheme: light dark; --line: #8884; --faint: #777; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .87rem; }
caption { text-align: left; color: var(--faint); padding-bottom: .3rem; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
details { margin: .6rem 0; } summary { cursor: pointer; }
.facts { color: var(--faint); font-size: .87rem; margin: .3rem 0; }
.chain { display: flex; height: 3rem; border-radius: 4px; overflow: hidden; font-size: .8rem; }
.chain div { display: flex; align-items: center; justify-content: center; min-width: 1px; color: #fff; }
.chain div + div { border-left: 1px solid Canvas; }
.legend { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); }
.legend i { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; margin-right: .5rem; }
`;
