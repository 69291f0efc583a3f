import { parentPort } from 'node:worker_threads';
import { drawnPaper } from '../../adapters/pdf.ts';
import { messageOf } from '../../domain/kernel/json.ts';
import type { Paper } from '../../domain/ports/services.ts';

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;

port.on('message', (paper: Paper) => {
  drawnPaper(paper).then(
    (answer) => port.postMessage({ answer }),
    (error: unknown) => port.postMessage({ failed: messageOf(error) }),
  );
});
