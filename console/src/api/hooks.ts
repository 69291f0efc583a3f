import { useMutation, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useRef } from 'react';
import type { Api } from '@quire/client';
import { api } from './connection.ts';
import { readAgainIfLate } from './lateReads.ts';

type Named = keyof Api;
type InputOf<Name extends Named> = Parameters<Api[Name]>[0];
type AnswerOf<Name extends Named> = Awaited<ReturnType<Api[Name]>>;
type AnyCall = (input: unknown, options: unknown) => Promise<unknown>;

const calls = api as unknown as Readonly<Record<Named, AnyCall>>;
const callOf = (name: Named): AnyCall => calls[name];

interface ReadOptions {
  /** False: not read yet, such as before a tenant is chosen. */
  readonly enabled?: boolean;
  /** Read again after so many milliseconds. */
  readonly refetchInterval?: number;
}

/**
 * Reads by a call of the service: `useRead('getBalance', { path: { tenant_id } })`. Its key in the cache is
 * `[name, input]`, so `queryClient.invalidateQueries({ queryKey: ['getBalance'] })` reads all balances again.
 */
export const useRead = <Name extends Named>(
  name: Name,
  input?: InputOf<Name>,
  options: ReadOptions = {},
): UseQueryResult<AnswerOf<Name>> =>
  useQuery({
    queryKey: [name, input ?? {}],
    queryFn: async (read) => {
      const answer = (await callOf(name)(input, { signal: read.signal })) as AnswerOf<Name>;
      readAgainIfLate(read);
      return answer;
    },
    ...options,
  });

/**
 * Changes something by a call of the service: `const sale = useChange('addCredits')`, then `sale.mutate({ body })`.
 * What is sent keeps one idempotency key until it succeeded or its input changed: a double click or a lost answer
 * never counts twice, and a new try is the same request.
 */
export const useChange = <Name extends Named>(name: Name) => {
  const key = useRef<{ readonly of: string; readonly value: string }>(undefined);
  const running = useRef<{ readonly of: string; readonly answer: Promise<AnswerOf<Name>> }>(undefined);
  return useMutation({
    mutationKey: [name],
    mutationFn: (input: InputOf<Name>): Promise<AnswerOf<Name>> => {
      const said = JSON.stringify(input);
      if (running.current?.of === said) return running.current.answer;
      if (key.current?.of !== said) key.current = { of: said, value: crypto.randomUUID() };
      const answer = callOf(name)(input, { idempotencyKey: key.current.value }) as Promise<AnswerOf<Name>>;
      running.current = { of: said, answer };
      const done = (): void => {
        running.current = undefined;
      };
      answer.then(() => {
        key.current = undefined;
        done();
      }, done);
      return answer;
    },
  });
};
