import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openModelProviders } from '../../models/modelProviders.ts';
import { openDocumentWorkers, type DocumentWorkers } from '../../isolation/documentWorkers.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { ModelAccess, ModelProviders } from '../../ports/modelProvider.ts';
import type { ModelCall, ModelWork } from '../../ports/modelWork.ts';
import { modelWork } from '../../models/byModel/workByModel.ts';
import { startScriptedProvider, type ScriptedProvider } from '../support/scriptedProvider.ts';
import type { ScriptedRequest } from '../support/scriptedProvider/steps.ts';
import { tempFolder } from '../support/tempFolder.ts';

export const SCHEMA: JsonObject = {
  type: 'object',
  properties: { number: { type: 'string' }, paid: { type: ['boolean', 'null'] }, note: { type: 'string' } },
};

export const sentText = ({ body }: ScriptedRequest): string =>
  JSON.stringify((body['messages'] as unknown as readonly object[]).slice(1));

/** Work on documents with a provider that does as its script says, for the specs of one block. */
export const documentWork = () => {
  const folder = tempFolder();
  let started: ScriptedProvider;
  let providers: ModelProviders;
  let workers: DocumentWorkers;
  let opened: ModelWork;
  const calls: ModelCall[] = [];
  before(async () => {
    started = await startScriptedProvider();
    providers = openModelProviders({ allowPrivateNetwork: true });
    workers = openDocumentWorkers({ processes: 2 });
    opened = workBy(workers);
  });
  const workBy = ({ tools, parser, ranged, schemaValidator: schemas }: DocumentWorkers): ModelWork =>
    modelWork({
      providers,
      tools,
      parser,
      ranged,
      schemas,
      localDeadlinesMs: { fast: 90_000, standard: 90_000, robust: 90_000 },
      readFile: (path) => readFile(path),
      partPausesMs: [5, 20],
    });
  after(async () => {
    await workers.close();
    await providers.close();
    await started.stop();
    folder.remove();
  });
  beforeEach(() => {
    calls.length = 0;
    started.requests.length = 0;
  });
  const provider = {
    get requests(): ScriptedRequest[] {
      return started.requests;
    },
    script: (...script: Parameters<ScriptedProvider['script']>) => started.script(...script),
  };
  const work: ModelWork = {
    extract: (...asked) => opened.extract(...asked),
    convert: (...asked) => opened.convert(...asked),
  };

  const access = (key: string, over: Partial<ModelAccess> = {}): ModelAccess => ({
    ref: { provider: 'openai_compatible', model: 'm' },
    apiKey: key,
    apiBase: started.url,
    owner: 'caller',
    retries: 0,
    ...over,
  });
  const fileOf = async (name: string, bytes: string | Buffer) => {
    const path = join(folder.path, name);
    await writeFile(path, bytes);
    return { path, fileName: name, pagesMax: 100, deadlineMs: 90_000, share: 't' };
  };
  const onCall = (call: ModelCall) => calls.push(call);
  return { provider, work, workBy, calls, access, fileOf, onCall };
};
