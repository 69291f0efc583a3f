import { isIP } from 'node:net';
import { z } from 'zod';

/** A prefix of 0 would be everybody: then a client that names another one is believed. */
const isNetwork = (text: string): boolean => {
  const [address = '', prefix, ...more] = text.split('/');
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  if (bits === 0 || more.length > 0) return false;
  return prefix === undefined || (/^[1-9]\d*$/.test(prefix) && Number(prefix) <= bits);
};

const HOPS = /^(?:[1-9]|10)$/;

const error =
  'must be the number of proxies before the service (1 to 10), or a list of their addresses and networks such as ' +
  '10.0.0.0/8,::1';

/** The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count: how many, or which. */
export const proxies = z
  .string()
  .transform((text): number | readonly string[] =>
    HOPS.test(text) ? Number(text) : text.split(',').map((one) => one.trim()),
  )
  .refine((value) => typeof value === 'number' || value.every(isNetwork), { error });
