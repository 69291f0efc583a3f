import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { dataDirOwner } from '../../../adapters/local/dataFolder.ts';
import { confinementHere } from '@quire/engine/isolation/confinement/confinement';
import { hasPpocr } from '@quire/engine/recognition/ppocr/runtime';
import { available } from '@quire/engine/recognition/tessdata';
import { absentAsUndefined } from '../../../domain/kernel/json.ts';
import type { Config } from '../../config.ts';
import {
  addressOf,
  addressState,
  addressVerdict,
  type Check,
  dataFolderVerdict,
  diskVerdict,
  ok,
  ownerVerdict,
  problem,
  type Verdict,
  warning,
} from '../../doctor/doctor.ts';
import { protectionVerdict } from '../../doctor/parts.ts';
import {
  askOperator,
  itemsOf,
  runningSocket,
  serviceFacts,
  type ServiceFacts,
} from '../../operator/socket.ts';
import type { Doctor } from './doctor.ts';
import { logChecks } from './doctorLog.ts';
import { serverChecks } from './doctorServers.ts';
import { VERSION } from '../../version.ts';

const QUICK_MS = 5_000;
/** Starts a process by each way of confining it until one holds. */
const PROTECTION_MS = 30_000;

/** What the service of the data folder says of itself; undefined when none answers. */
const runningService = async (
  { dataDir }: Config,
  signal: AbortSignal,
): Promise<ServiceFacts | undefined> => {
  const socket = await runningSocket(dataDir);
  if (socket === undefined) return undefined;
  const asked = { name: 'service.about', input: {} };
  const [facts] = await itemsOf((send) => askOperator(socket, asked, { send, signal }));
  return facts === undefined ? undefined : serviceFacts.parse(facts);
};

const folderChecks = ({ config, env }: Doctor): readonly Check[] => [
  { name: 'data folder', limitMs: QUICK_MS, look: () => dataFolderVerdict(config.dataDir) },
  { name: 'disk', limitMs: QUICK_MS, look: () => diskVerdict(config.dataDir) },
  {
    name: 'service',
    limitMs: QUICK_MS,
    look: async (signal) => {
      const facts = await runningService(config, signal);
      return ownerVerdict(await dataDirOwner(config.dataDir), facts, VERSION);
    },
  },
  ...(config.s3 === undefined ? [objectFolderCheck(config)] : []),
  ...addressChecks(config),
  ocrCheck(config),
  {
    name: 'parsers',
    limitMs: PROTECTION_MS,
    look: async () => protectionVerdict(await confinementHere()),
  },
  modelsCheck(config, env),
];

const objectFolderCheck = ({ dataDir }: Config): Check => ({
  name: 'objects',
  limitMs: QUICK_MS,
  look: async () => {
    const folder = join(dataDir, 'objects');
    const found = await absentAsUndefined(access(folder, constants.R_OK | constants.W_OK).then(() => true));
    return found === undefined
      ? ok(`The folder ${folder} is not there yet: the first start makes it.`)
      : ok(`The folder ${folder} can be read and written.`);
  },
});

const addressChecks = (config: Config): readonly Check[] => {
  const { host, port, roles } = config;
  if (!roles.includes('api')) return [];
  const look = async (signal: AbortSignal): Promise<Verdict> => {
    if (port === 0) return ok('PORT is 0: each start picks a free one.');
    const [state, facts] = await Promise.all([
      addressState({ host, port }, signal),
      runningService(config, signal).catch(() => undefined),
    ]);
    const isOwn = facts?.url != null && new URL(facts.url).port === String(port);
    return addressVerdict(addressOf(host, port), state, isOwn);
  };
  return [{ name: 'address', limitMs: QUICK_MS, look }];
};

/** PP-OCR is optional: where its packages could not be installed, Tesseract reads alone. */
const secondEngine = (engines: Config['ocrEngines']): string => {
  if (!engines.includes('ppocr')) return '';
  return hasPpocr() ? ' PP-OCR is installed.' : ' PP-OCR is not installed: bad scans are read less well.';
};

const NO_ENGINE =
  'PP-OCR is not installed, and OCR_ENGINES names nothing else: no scan can be read. To mend it, add tesseract.';

const ocrCheck = ({ ocrLanguages, ocrEngines }: Config): Check => ({
  name: 'recognition',
  limitMs: QUICK_MS,
  look: () => {
    const there = available(ocrLanguages);
    const missing = ocrLanguages.filter((language) => !there.includes(language));
    const second = secondEngine(ocrEngines);
    if (!ocrEngines.includes('tesseract')) return hasPpocr() ? ok(second.trim()) : problem(NO_ENGINE);
    if (missing.length === 0) return ok(`The data of ${there.join(', ')} are there.${second}`);
    const what = `The data of ${missing.join(', ')} are missing`;
    const todo = `install @tesseract.js-data/<language> and run \`npm run build\`, or leave it out of OCR_LANGUAGES`;
    return there.length === 0
      ? problem(`${what}: no scan can be read. To mend it, ${todo}.`)
      : warning(`${what}: scans in these languages are read as others. To mend it, ${todo}.`);
  },
});

const MODEL_KEYS = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_API_KEY', 'MISTRAL_API_KEY'];

/** Keys are looked for and not tried: doctor sends nothing to a provider. */
const modelsCheck = ({ platformModels }: Config, env: Doctor['env']): Check => ({
  name: 'models',
  limitMs: QUICK_MS,
  look: () => {
    const keys = MODEL_KEYS.filter((name) => (env[name] ?? '') !== '');
    const { extraction, ocr } = platformModels;
    const set = keys.length === 0 ? 'no provider key is set' : `${keys.join(', ')} set (not tried)`;
    return ok(`Extraction by ${extraction.name}, recognition by ${ocr.name}; ${set}.`);
  },
});

/** Everything that is looked at with a configuration that makes sense, in the order in which it is shown. */
export const configuredChecks = (doctor: Doctor): readonly Check[] => [
  ...folderChecks(doctor),
  ...logChecks(doctor),
  ...serverChecks(doctor),
];
