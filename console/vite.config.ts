import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The service beside which `npm run dev -w console` runs. */
const SERVICE = 'http://127.0.0.1:8080';

const inDevelopment = { target: SERVICE, changeOrigin: true, headers: { origin: SERVICE } };

/** Toasts would add their style tag, which the policy blocks; `main.tsx` imports their style sheet. */
const withoutStyleTag: Plugin = {
  name: 'toasts-without-style-tag',
  transform: {
    filter: { id: /sonner\/dist\/index\.mjs/, code: /__insertCSS\(/ },
    handler: (code) => ({ code: code.replace(/^__insertCSS\(".*"\);?$/m, ''), map: null }),
  },
};

/**
 * Notes of packages for another bundler, and times of plugins on a machine that does more than build: whoever starts
 * the service could mend nothing of either.
 */
const QUIET = { invalidAnnotation: false, bundlerTimings: false };

const PDFJS = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
const { version } = JSON.parse(readFileSync(join(PDFJS, 'package.json'), 'utf8')) as { version: string };

/** What pdf.js loads when a document needs it: maps of East Asian codes, fonts, decoders of pictures. */
const PDFJS_PARTS = ['cmaps', 'standard_fonts', 'wasm', 'iccs'];

/** Its parts under their own names, which it makes up while it runs: the folder carries the version instead. */
const withPartsOfPdfjs: Plugin = {
  name: 'parts-of-pdfjs',
  generateBundle() {
    for (const part of PDFJS_PARTS)
      for (const name of readdirSync(join(PDFJS, part)))
        this.emitFile({
          type: 'asset',
          fileName: `assets/pdfjs-${version}/${part}/${name}`,
          source: readFileSync(join(PDFJS, part, name)),
        });
  },
  configureServer: ({ middlewares }) => {
    middlewares.use(`/app/assets/pdfjs-${version}`, (req, res, next) => {
      const [part, name] = (req.url ?? '').slice(1).split('/');
      const isThere =
        PDFJS_PARTS.includes(part ?? '') && readdirSync(join(PDFJS, part ?? '')).includes(name ?? '');
      if (isThere) res.end(readFileSync(join(PDFJS, part ?? '', name ?? '')));
      else next();
    });
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  plugins: [react(), tailwindcss(), withoutStyleTag, withPartsOfPdfjs],
  worker: { format: 'es', rolldownOptions: { checks: QUIET } },
  resolve: {
    alias: { '@quire/client': new URL('../sdk/src/index.ts', import.meta.url).pathname },
  },
  build: {
    outDir: 'dist',
    // a page that is open loads its other parts from the files of the build it came from
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    chunkSizeWarningLimit: 1_500,
    rolldownOptions: { checks: QUIET },
  },
  optimizeDeps: { exclude: ['sonner'] },
  server: {
    port: 5173,
    proxy: {
      '/v1': inDevelopment,
      '/uploads': inDevelopment,
      '/health': inDevelopment,
      '/docs': inDevelopment,
    },
  },
});
