import { createRequire } from 'node:module';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';

interface Server {
  run(): Promise<{ readonly port: number }>;
  close(): Promise<void>;
}
const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as new (options: object) => Server;

/** A real S3 server with an empty folder, which checks signatures. */
export interface S3Server {
  readonly options: {
    readonly endpoint: string;
    readonly bucket: string;
    readonly accessKey: string;
    readonly secretKey: string;
    readonly region: string;
  };
  /** As the service is told of it. */
  readonly env: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
}

export const startS3 = async (): Promise<S3Server> => {
  const folder = tempFolder();
  const server = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory: folder.path });
  const { port } = await server.run();
  const endpoint = `http://127.0.0.1:${port}`;
  const options = {
    endpoint,
    bucket: 'quire',
    accessKey: 'S3RVER',
    secretKey: 'S3RVER',
    region: 'us-east-1',
  };
  return {
    options,
    env: {
      S3_ENDPOINT: endpoint,
      S3_BUCKET: options.bucket,
      S3_ACCESS_KEY: options.accessKey,
      S3_SECRET_KEY: options.secretKey,
    },
    close: async () => {
      await server.close();
      folder.remove();
    },
  };
};
