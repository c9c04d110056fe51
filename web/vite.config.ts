// How the pages are built: hashed files under dist/web, nothing inlined.

import { defineConfig } from 'vite';
import { icons } from './build/icons/icons.ts';
import { preloadApp } from './build/preload-app.ts';
import { worldMap } from './build/world-map.ts';

const service = 'http://127.0.0.1:8080';
// The service takes its session's cookie from its own origin only.
const handOn = { target: service, headers: { origin: service } };

/** A page is a file of its own, though another page may take a part of it. */
const isShared = (id: string): boolean => !/-page\.tsx$|palette-boards\.ts$/.test(id);

/** What the overview shares with a few pages, in small files. */
const ofFigures =
  /\/web\/(?:retries|sources|results\/(?:provenance|change)|charts\/(?:data-table|sparkline)|question\/(?:question|rows)-link|setup\/demo-command|filter\/cookieless)/;

export default defineConfig({
  root: import.meta.dirname,
  plugins: [worldMap(), icons(), preloadApp('/web/main.tsx')],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    // Says which files each page loads: test/web/size.test.ts adds them up.
    manifest: true,
    target: 'es2023',
    // Inlined assets would need `data:` where the pages' policy allows it for images only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // One file of 8 kB, packed: Vite loads a page's own styles once, so that a page whose styles failed to come would
    // be shown without them for ever.
    cssCodeSplit: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 400,
    // The first script names every file: a character of each name's hash is a tenth of a kB of it.
    rolldownOptions: {
      output: {
        chunkFileNames: 'assets/[name]-[hash:7].js',
        // A slow line loads six files at a time, and each costs its latency. So the code of every page is one file, and
        // code that this many pages share is another. A smaller number makes the first load of simple pages larger, a
        // greater one gives the overview more files.
        codeSplitting: {
          groups: [
            { name: 'begin', tags: ['$initial'], priority: 3 },
            { name: 'app', test: /\/web\/main\.tsx$/, priority: 2 },
            { name: 'shared', test: isShared, minShareCount: 6 },
            { name: 'figures', test: ofFigures, minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      '^/[a-z]+(\\.[a-z0-9]+)+\\.[A-Za-z]+Service/': handOn,
      '^/(v1|openapi\\.json|millrace\\.js|m)(/|$)': handOn,
    },
  },
});
