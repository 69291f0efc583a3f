import { createRequire } from 'node:module';

/** An S3 server as a process of its own: `node s3Main.js PORT FOLDER`. It checks signatures. */
interface Server {
  run(): Promise<unknown>;
}
const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as new (options: object) => Server;

const [port, directory] = process.argv.slice(2);
await new S3rver({ port: Number(port), address: '127.0.0.1', silent: true, directory }).run();
