import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { Api } from '@quire/client';
import { api } from './connection.ts';

type Named = keyof Api;
type InputOf<Name extends Named> = Parameters<Api[Name]>[0];
type AnswerOf<Name extends Named> = Awaited<ReturnType<Api[Name]>>;
type AnyCall = (input: unknown, options: unknown) => Promise<unknown>;

/**
 * A form that moves credits or money. It has one identity from when it is opened, whatever is typed into it:
 * a second click joins the first, and a new try after a lost answer is the same booking, also if its input was
 * changed in between (the service then refuses it instead of booking twice). Only a 2xx answer binds the identity.
 */
export const useBooking = <Name extends Named>(name: Name) => {
  const [identity] = useState(() => crypto.randomUUID());
  const running = useRef<Promise<AnswerOf<Name>>>(undefined);
  const call = (api as unknown as Readonly<Record<Named, AnyCall>>)[name];
  const booking = useMutation({
    mutationKey: [name],
    mutationFn: (input: InputOf<Name>): Promise<AnswerOf<Name>> => {
      if (running.current !== undefined) return running.current;
      const answer = call(input, { idempotencyKey: identity }) as Promise<AnswerOf<Name>>;
      running.current = answer;
      const done = (): void => {
        running.current = undefined;
      };
      answer.then(done, done);
      return answer;
    },
  });
  return { ...booking, identity };
};
