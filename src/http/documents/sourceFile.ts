import { type FetchRequest, withFetched, withSource, type WorkSubject } from '../../commands/fetchUpload.ts';
import type { ReceivedFile } from '../../commands/work.ts';
import type { ApiDeps } from '../apiDeps.ts';
import type { RouteRequest } from '../defineRoute.ts';
import { workFailure } from '../doneOrProblem.ts';
import { invalid } from '../problems.ts';
import { fileOf } from './workFields.ts';

type AnyRequest = RouteRequest<unknown, unknown, unknown>;

/** Where a request says where its document lies. */
interface Source {
  readonly source_url: string;
  readonly at: readonly string[];
}

const both = (at: readonly string[], other: string) =>
  invalid({ loc: [...at], msg: `Send ${other} or source_url, not both.`, type: 'value_error' });

const fromSource = async <T extends object>(
  { sources }: ApiDeps,
  { request, source }: { readonly request: AnyRequest; readonly source: Source },
  work: (file: ReceivedFile) => Promise<T>,
): Promise<T> => {
  const { tenant_id, signal } = request;
  const done = await withSource(sources, { ...source, tenant_id, signal }, work);
  if ('kind' in done) throw workFailure(done);
  return done;
};

/** Does work on the document of a form: its file, or what lies at its `source_url`. */
export const onFormFile = <T extends object>(
  deps: ApiDeps,
  request: AnyRequest & { readonly body: { readonly source_url?: string | undefined } },
  work: (file: ReceivedFile) => Promise<T>,
): Promise<T> => {
  const { source_url } = request.body;
  const at = ['body', 'source_url'];
  if (source_url === undefined) return work(fileOf(request.file));
  if (request.file !== undefined) throw both(at, 'a file');
  return fromSource(deps, { request, source: { source_url, at } }, work);
};

interface JsonDocument extends FetchRequest {
  readonly source_url?: string | undefined;
  /** Where the members stand that name the document. */
  readonly at: readonly string[];
}

/** Does work on the document that JSON names: one that was uploaded, or what lies at its `source_url`. */
export const onJsonFile = async <T extends object>(
  deps: ApiDeps,
  { request, named }: { readonly request: AnyRequest; readonly named: JsonDocument },
  work: (subject: WorkSubject) => Promise<T>,
): Promise<T> => {
  const { source_url, at: within, file_uri, document_id, file_name, project_id, task_id } = named;
  const at = [...within, 'source_url'];
  if (source_url !== undefined) {
    if (file_uri !== undefined || document_id !== undefined) throw both(at, 'file_uri');
    return fromSource(deps, { request, source: { source_url, at } }, (file) =>
      work({ file: { ...file, file_name: file_name ?? file.file_name }, project_id, task_id }),
    );
  }
  const done = await withFetched(deps.uploads, named, work);
  if ('kind' in done) throw workFailure(done);
  return done;
};
