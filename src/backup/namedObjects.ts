import { createHash } from 'node:crypto';
import { messageOf } from '../../domain/kernel/json.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { byType } from '../audit/auditedEvent.ts';
import type { Watcher } from '../audit/auditLog.ts';
import type { Findings } from '../audit/findings.ts';
import type { ObjectsCheck } from '../audit/runAudit.ts';
import { RESULTS_PREFIX, resultKeyOf, workIdOfResult } from '../commands/storedResult.ts';
import { type Need, objectNeeds } from './files.ts';

type ReadObjects = Pick<ObjectStore, 'open' | 'list'>;

/** SHA-256 of an object's bytes; undefined where there is none. */
const digestOf = async (objects: ReadObjects, key: string): Promise<string | undefined> => {
  const bytes = await objects.open(key);
  if (bytes === undefined) return undefined;
  const hash = createHash('sha256');
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest('hex');
};

/** Results that are kept now, by the work that they are of: they are removed after some days. */
const keptResults = async (objects: ReadObjects): Promise<Map<string, Set<string>>> => {
  const kept = new Map<string, Set<string>>();
  for await (const { key } of objects.list(RESULTS_PREFIX)) {
    const work = workIdOfResult(key);
    if (work === undefined) continue;
    const digests = kept.get(work) ?? new Set();
    kept.set(work, digests.add(key.slice(resultKeyOf(work, '').length)));
  }
  return kept;
};

/** The result that a burn pays for is among those that are kept of its work, if any is. */
const paidResults = (kept: ReadonlyMap<string, ReadonlySet<string>>) => {
  const paid = new Map<string, { readonly stream: string; readonly digest: string }>();
  const watcher: Watcher = {
    decoded: byType({
      CreditsBurned: ({ stream, data: { operation_id, delivered } }) => {
        const digest = delivered?.result_sha256;
        if (digest !== undefined && kept.has(operation_id)) paid.set(operation_id, { stream, digest });
      },
    }),
  };
  const check = (findings: Findings): void => {
    for (const [work, { stream, digest }] of paid) {
      findings.checked('objects');
      if (kept.get(work)?.has(digest) === true) continue;
      const message = `The result that was paid for as ${work} is not kept, and another one is.`;
      findings.add({ check: 'objects', stream, key: resultKeyOf(work, digest), message, expected: digest });
    }
  };
  return { watcher, check };
};

interface Looked {
  readonly objects: ReadObjects;
  readonly findings: Findings;
  readonly signal: AbortSignal | undefined;
}

/** Compares one object with the digest that names it. False: it is not there. */
const isThere = async (
  { objects, findings, signal }: Looked,
  key: string,
  { stream, sha256 }: Need & { readonly sha256: string },
): Promise<boolean> => {
  signal?.throwIfAborted();
  const found = await digestOf(objects, key);
  if (found === undefined) return false;
  findings.checked('objects');
  if (found !== sha256)
    findings.add({
      check: 'objects',
      stream,
      key,
      expected: sha256,
      found,
      message: `The object ${key} is not the one that the log names: it was changed.`,
    });
  return true;
};

const SHOWN = 5;

/**
 * Compares objects with the digests by which the log names them: uploads, requests that wait, artifacts, examples,
 * expected values, reports of evaluations, and results. One that is missing is a note: some are kept for days only.
 */
export const objectsCheck = async (objects: ReadObjects, signal?: AbortSignal): Promise<ObjectsCheck> => {
  const [needs, kept] = [objectNeeds(), await keptResults(objects)];
  const paid = paidResults(kept);
  const look = async (findings: Findings): Promise<void> => {
    const looked = { objects, findings, signal };
    paid.check(findings);
    for (const [work, digests] of kept)
      for (const sha256 of digests)
        await isThere(looked, resultKeyOf(work, sha256), { stream: `of the work ${work}`, sha256 });
    const missing: string[] = [];
    for (const [key, { stream, sha256 }] of needs.needs())
      if (sha256 !== null && !(await isThere(looked, key, { stream, sha256 }))) missing.push(key);
    if (missing.length > 0)
      findings.note(
        `${missing.length} objects that the log names are not there, ` +
          `for example ${missing.slice(0, SHOWN).join(', ')}.`,
      );
  };
  return {
    watchers: [needs.watcher, paid.watcher],
    finish: (findings) =>
      look(findings).catch((error: unknown) => {
        signal?.throwIfAborted();
        findings.note(`Objects were not all looked at: ${messageOf(error)}`);
      }),
  };
};
