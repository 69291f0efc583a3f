import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../domain/kernel/json.ts';
import { doRulesJob, type RulesAnswer, type RulesJob } from '../rules/rulesWork.ts';

/** What comes of the rules of a config. */
type RulesNews = { readonly answer: RulesAnswer } | { readonly failed: string };

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;

const newsOf = (job: RulesJob): RulesNews => {
  try {
    return { answer: doRulesJob(job) };
  } catch (error) {
    return { failed: messageOf(error) };
  }
};

port.postMessage('ready');
port.on('message', (job: RulesJob) => port.postMessage(newsOf(job)));
