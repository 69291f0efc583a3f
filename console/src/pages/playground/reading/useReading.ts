import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { readBy, type Asked, type Running, type Step, type Way } from './ways.ts';

interface Identity {
  readonly file: File;
  readonly text: string;
  readonly key: string;
}

/** Reads a document in one way. The same work keeps one identity until it was done. */
export const useReading = <Of extends Asked, Result>(way: Way<Of, Result>) => {
  const [step, show] = useState<Step>();
  const stopping = useRef<AbortController>(undefined);
  const identity = useRef<Identity>(undefined);

  const keyOf = (asked: Of): string => {
    const { file } = asked;
    const text = way.textOf(asked);
    if (identity.current?.file !== file || identity.current.text !== text)
      identity.current = { file, text, key: crypto.randomUUID() };
    return identity.current.key;
  };

  const reading = useMutation({
    mutationFn: async (asked: Of): Promise<Result> => {
      stopping.current = new AbortController();
      const { signal } = stopping.current;
      const end = (): void => {
        identity.current = undefined;
      };
      const tell = (next: Step | undefined): void => {
        if (!signal.aborted) show(next);
      };
      const running: Running = { signal, tell, end, idempotencyKey: keyOf(asked) };
      try {
        const result = await readBy(way, asked, running);
        end();
        return result;
      } finally {
        tell(undefined);
      }
    },
  });
  const stop = (): void => {
    stopping.current?.abort();
    reading.reset();
    show(undefined);
  };
  return { reading, step, stop };
};
