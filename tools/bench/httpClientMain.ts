import { text } from 'node:stream/consumers';
import { runLoad, type HttpLoad } from './httpClient.ts';

/** The client of `bench:http`, a process of its own: a load comes in as JSON, what came of it goes out. */
const load = JSON.parse(await text(process.stdin)) as HttpLoad;
process.stdout.write(JSON.stringify(await runLoad(load)));
