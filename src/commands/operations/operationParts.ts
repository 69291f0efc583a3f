import type { PartShelf } from '@quire/engine/ports/rangedWork';
import type { ObjectStore } from '../../../domain/ports/objectStore.ts';
import { OPERATIONS_PREFIX } from './operationInput.ts';

const prefixOf = (operationId: string): string => `${OPERATIONS_PREFIX}${operationId}/parts/`;

/**
 * Where the parts of a long document lie while its operation runs: whoever takes the operation over goes on with
 * them. They are of the same file and request, by which the operation is accepted once.
 */
export const operationParts = (objects: ObjectStore, operationId: string): PartShelf => ({
  find: (name) => objects.get(`${prefixOf(operationId)}${name}`),
  put: (name, bytes) => objects.put(`${prefixOf(operationId)}${name}`, bytes),
});

/** An operation that ended needs its parts no more. */
export const dropParts = async (objects: ObjectStore, operationId: string): Promise<void> => {
  const keys: string[] = [];
  for await (const { key } of objects.list(prefixOf(operationId))) keys.push(key);
  for (const key of keys) await objects.remove(key);
};
