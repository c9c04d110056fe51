// The page's head names the code of the app, which the first script imports: a browser asks for both at once.

import type { Plugin } from 'vite';

/** Vite's plugin. `source`: the end of the path of the module whose file is named. */
export function preloadApp(source: string): Plugin {
  return {
    name: 'preload-app',
    transformIndexHtml: {
      order: 'post',
      handler: (_page, { bundle = {} }) =>
        Object.values(bundle)
          .filter((one) => one.type === 'chunk' && one.moduleIds.some((id) => id.endsWith(source)))
          .map(({ fileName }) => ({
            tag: 'link',
            attrs: { rel: 'modulepreload', crossorigin: true, href: `/${fileName}` },
            injectTo: 'head',
          })),
    },
  };
}
