import { openDocumentWorkers, type DocumentWorkers } from '../../isolation/documentWorkers.ts';
import type { RenderResult } from '../../ports/documentParser.ts';
import { tempFolder, type TempFolder } from '../support/tempFolder.ts';

export interface Renderings {
  readonly folder: TempFolder;
  readonly parser: () => DocumentWorkers['parser'];
  readonly render: (name: string, content: string | Uint8Array) => Promise<RenderResult>;
  readonly markdown: (name: string, content: string | Uint8Array) => Promise<string>;
  readonly warnings: (name: string, content: string | Uint8Array) => Promise<readonly string[]>;
}

/** Renders files in a child process, for the specs of one block. */
export const renderings = (): Renderings => {
  const folder = tempFolder();
  let workers: DocumentWorkers;
  before(() => {
    workers = openDocumentWorkers({ processes: 1 });
  });
  after(async () => {
    await workers.close();
    folder.remove();
  });

  const render = (name: string, content: string | Uint8Array): Promise<RenderResult> =>
    workers.parser.render({
      path: folder.file(name, content),
      fileName: name,
      effort: 'standard',
      pagesMax: 100,
      deadlineMs: 30_000,
      share: 't',
    });
  const markdown = async (name: string, content: string | Uint8Array): Promise<string> => {
    const result = await render(name, content);
    if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
    return result.rendition.markdown;
  };
  const warnings = async (name: string, content: string | Uint8Array): Promise<readonly string[]> => {
    const result = await render(name, content);
    return result.kind === 'ok' ? result.rendition.warnings.map(({ code }) => code) : [result.kind];
  };
  return { folder, parser: () => workers.parser, render, markdown, warnings };
};
