// The forms of questions as they stand in the addresses of the app: each has its page, its pictures and its checks.

export const questionForms: readonly string[] = [
  ...['trends', 'segmentation', 'sessions', 'funnel', 'retention'],
  ...['user-flow', 'top-k', 'lifecycle', 'stickiness', 'revenue'],
];
