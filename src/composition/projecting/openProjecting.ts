import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import { pgliteSql, type EmbeddedSql } from '../../../adapters/pglite/sql.ts';
import type { ProjectionThreadData } from './projectionMessages.ts';
import type { Projecting } from './serviceRunner.ts';

/** Embedded read models, and the projections that run beside them in the same thread. */
export interface ProjectingSql extends EmbeddedSql {
  /** To talk to the projections; they start when they are told to. */
  readonly projections: MessagePort;
}

/** Opens embedded read models in `folder`, in a thread that can keep them up with the log in `logFile`. */
export const openProjecting = async (
  { folder, logFile }: Pick<ProjectionThreadData, 'logFile'> & { readonly folder: string },
  projecting: Projecting,
): Promise<ProjectingSql> => {
  let { port1: projections, port2: port } = new MessageChannel();
  const opened = await pgliteSql(folder, (path) => {
    // A thread that did not open has taken its port with it.
    ({ port1: projections, port2: port } = new MessageChannel());
    const workerData: ProjectionThreadData = { ...projecting, folder: path, logFile, port };
    return new Worker(new URL('./projectionThread.js', import.meta.url), {
      workerData,
      transferList: [port],
    });
  });
  return { ...opened, projections };
};
