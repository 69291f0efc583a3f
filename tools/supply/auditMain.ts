import { auditResult, npm } from './supply.ts';

/**
 * `npm run audit:deps`: 0 when the registry knows of nothing grave in what production depends on, 1 when it
 * does. A registry without an audit endpoint is said plainly: 1, or 0 with `--allow-offline`.
 */
const main = async (): Promise<number> => {
  const { out } = await npm(['audit', '--omit=dev', '--audit-level=high', '--json']);
  const result = auditResult(out);
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
