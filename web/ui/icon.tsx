// The app's icons: one path each on a grid of 24, drawn for Millrace. Decoration: the name stands beside or in a label.

const paths = {
  gauge: 'M4 18a8 8 0 1 1 16 0M12 18l4-6',
  pulse: 'M3 12h4l3-8 4 16 3-8h4',
  list: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01',
  people:
    'M9 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM3 20c0-3 2.500-5 6-5s6 2 6 5M16 5a3 3 0 0 1 0 6M18 15c2 .6 3 2.400 3 5',
  route:
    'M5 20a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM19 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM7 18h8a3 3 0 0 0 0-6H9a3 3 0 0 1 0-6h8',
  account: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4 21c0-4 3.500-6 8-6s8 2 8 6',
  chart: 'M4 20V4M4 20h16M8 16l4-5 3 3 5-7',
  grid: 'M4 4h7v9H4zM13 4h7v5h-7zM13 11h7v9h-7zM4 15h7v5H4z',
  bell: 'M6 17V11a6 6 0 0 1 12 0v6l1.500 1.500h-15L6 17ZM10 21h4',
  overlap:
    'M9 17.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11ZM15 17.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11Z',
  send: 'M20 4 4 11l6 3 3 6 7-16ZM10 14l4-4',
  plug: 'M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0V8ZM12 17v4',
  sliders: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
  building: 'M5 21V4h9v17M14 9h5v12M8 8h3M8 12h3M8 16h3M3 21h18',
  menu: 'M4 7h16M4 12h16M4 17h16',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM16 16l4 4',
  down: 'M6 9l6 6 6-6',
  up: 'M6 15l6-6 6 6',
  right: 'M9 6l6 6-6 6',
  left: 'M15 6l-6 6 6 6',
  close: 'M6 6l12 12M18 6 6 18',
  plus: 'M12 5v14M5 12h14',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 13l4 4L19 7',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 5l12 7-12 7z',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  edit: 'M4 20h4L19 9l-4-4L4 16v4Z',
  warning: 'M12 4 2.500 20h19L12 4ZM12 10v4M12 17h.01',
  share:
    'M18 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M6 14.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M18 21.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M8.2 10.8l7.6-4.1M8.2 13.2l7.6 4.6',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 7v5l3 2',
  expand: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5',
  filter: 'M4 5h16l-6 8v6l-4-2v-4L4 5Z',
  refresh: 'M20 11a8 8 0 1 0-2 6M20 4v7h-7',
  code: 'M8 7l-5 5 5 5M16 7l5 5-5 5',
  table: 'M4 5h16v14H4zM4 10h16M4 15h16M10 5v14',
  drag: 'M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
