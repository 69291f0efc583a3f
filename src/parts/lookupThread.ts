import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../domain/kernel/json.ts';
import { type LookupAnswer, lookupDoer, type LookupJob } from '../rules/lookupWork.ts';

/** What comes of look-ups in tables. */
type LookupNews = { readonly answer: LookupAnswer } | { readonly failed: string };

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
const does = lookupDoer();

const newsOf = (job: LookupJob): LookupNews => {
  try {
    return { answer: does(job) };
  } catch (error) {
    return { failed: messageOf(error) };
  }
};

port.postMessage('ready');
port.on('message', (job: LookupJob) => port.postMessage(newsOf(job)));
