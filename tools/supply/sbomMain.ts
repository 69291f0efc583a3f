import { writeFile } from 'node:fs/promises';
import { licenseBreaches, productionSbom } from './supply.ts';

/** `npm run sbom -- FILE`: writes what production depends on as CycloneDX JSON; 1 for a licence that may not be. */
const main = async (): Promise<number> => {
  const [file = 'sbom.cdx.json'] = process.argv.slice(2);
  const sbom = await productionSbom();
  await writeFile(file, `${JSON.stringify(sbom, null, 2)}\n`);
  console.log(`${file}: ${sbom.components.length} components`);
  const breaches = licenseBreaches(sbom);
  for (const breach of breaches) console.error(`licence: ${breach}`);
  return breaches.length === 0 ? 0 : 1;
};

process.exitCode = await main();
