import { auditResult, npm, productionSbom } from './supply.ts';

/** Whether what is installed at a place of the lock file is in production: by itself, or by the build in `dist/`. */
const shipped = async (): Promise<(node: string) => boolean> => {
  const names = new Set((await productionSbom()).components.map(({ name }) => name));
  return (node) => names.has(node.replace(/^.*node_modules\//, ''));
};

/**
 * `npm run audit:deps`: 0 when the registry knows of nothing grave in what production has, 1 when it
 * does. A registry without an audit endpoint is said plainly: 1, or 0 with `--allow-offline`.
 */
const main = async (): Promise<number> => {
  const { out } = await npm(['audit', '--audit-level=high', '--json']);
  const result = auditResult(out, await shipped());
  switch (result.kind) {
    case 'clean':
      console.log('audit: nothing of severity high or critical in production dependencies');
      return 0;
    case 'found':
      for (const line of result.lines) console.error(`audit: ${line}`);
      return 1;
    case 'unknown':
      console.error(`audit: NOT DONE, the registry answers no audit (${result.reason})`);
      return process.argv.includes('--allow-offline') ? 0 : 1;
  }
};

process.exitCode = await main();
