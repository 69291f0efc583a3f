import type { ObjectStore } from '../../../domain/ports/services.ts';

/** The object store failed; the work that needed it was undone. */
export class ObjectStoreFailed extends Error {
  override readonly name = 'ObjectStoreFailed';
}

const guarded = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw new ObjectStoreFailed('the object store failed', { cause: error });
  }
};

async function* guardedItems<T>(items: AsyncIterable<T>): AsyncIterable<T> {
  try {
    yield* items;
  } catch (error) {
    throw new ObjectStoreFailed('the object store failed', { cause: error });
  }
}

/** The same store, whose failures have one name whatever it is made of. */
export const guardedObjects = ({ link, ...objects }: ObjectStore): ObjectStore => ({
  put: (key, bytes) => guarded(objects.put(key, bytes)),
  putFile: (key, path) => guarded(objects.putFile(key, path)),
  get: (key) => guarded(objects.get(key)),
  open: async (key) => {
    const stream = await guarded(objects.open(key));
    return stream && guardedItems(stream);
  },
  ...(link && { link: (key: string, path: string) => guarded(link(key, path)) }),
  list: (prefix) => guardedItems(objects.list(prefix)),
  remove: (key) => guarded(objects.remove(key)),
  check: () => guarded(objects.check()),
});
