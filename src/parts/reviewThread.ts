import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../domain/kernel/json.ts';
import { buffersIn, doReviewJob, type ReviewJob } from '../commands/reviewWork.ts';

/** What comes of a piece of work. */
type ReviewNews = { readonly answer: ReturnType<typeof doReviewJob> } | { readonly failed: string };

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;

const newsOf = (job: ReviewJob): ReviewNews => {
  try {
    return { answer: doReviewJob(job) };
  } catch (error) {
    return { failed: messageOf(error) };
  }
};

port.on('message', (job: ReviewJob) => {
  const news = newsOf(job);
  const answer = 'failed' in news ? [] : news.answer;
  port.postMessage(news, buffersIn(answer instanceof Uint8Array ? [answer] : Object.values(answer)));
});
