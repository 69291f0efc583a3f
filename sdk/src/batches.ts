import type { Call } from './call.ts';
import type { Api } from './generated/calls.gen.ts';
import type { Batch, Operation } from './generated/types.gen.ts';
import { entriesOfLines } from './lines.ts';
import { lookUntil } from './patience.ts';
import { answerOf, type Connection } from './send.ts';

/** What became of one document of a batch. */
export interface BatchResult extends Pick<Operation, 'status' | 'result' | 'error' | 'cost'> {
  /** Its place in the request, from 0. */
  readonly index: number;
  readonly file_uri: string;
  /** null, as the next is, for a document that could not be begun. */
  readonly document_id: string | null;
  readonly operation_id: string | null;
}

export interface BatchWaitOptions {
  readonly signal?: AbortSignal;
  /** Called with each state that is read, the last one too. */
  readonly onProgress?: (batch: Batch) => void;
}

type Named = string | Pick<Batch, 'batch_id'>;

const idOf = (batch: Named): string => (typeof batch === 'string' ? batch : batch.batch_id);

const hasEnded = ({ status }: Batch): boolean => status === 'ended' || status === 'cancelled';

const RESULTS: Call = { method: 'GET', path: '/v1/batches/{batch_id}/results' };

/** Many documents with one schema. */
export class Batches {
  readonly #api: Api;
  readonly #connection: Connection;

  constructor(api: Api, connection: Connection) {
    this.#api = api;
    this.#connection = connection;
  }

  /** The batch once every document has its outcome. */
  wait(batch: Named, { signal, onProgress }: BatchWaitOptions = {}): Promise<Batch> {
    const look = async (): Promise<Batch> => {
      const state = await this.#api.getBatch({ path: { batch_id: idOf(batch) } }, { signal });
      onProgress?.(state);
      return state;
    };
    return lookUntil(look, hasEnded, signal);
  }

  /** What became of each document, in the order of the request, read as it arrives. */
  async *results(
    batch: Named,
    options: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<BatchResult, void, undefined> {
    const input = { path: { batch_id: idOf(batch) } };
    const { body } = await answerOf(this.#connection, RESULTS, { input, options });
    if (body !== null) yield* entriesOfLines<BatchResult>(body);
  }
}
