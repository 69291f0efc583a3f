import { useId, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { CONTROL } from './style.ts';
import { Copy } from './values.tsx';

/** A call whose answer holds a secret. */
export interface Issue<Answer> {
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly run: (call: () => Promise<Answer>) => Promise<void>;
}

/** Runs a call that answers with a secret. Its answer goes to `onIssued` alone: a mutation would keep it. */
export const useIssue = <Answer,>(onIssued: (answer: Answer) => void | Promise<void>): Issue<Answer> => {
  const isRunning = useRef(false);
  const [state, set] = useState<{ error: unknown; isBusy: boolean }>({ error: null, isBusy: false });
  const run = async (call: () => Promise<Answer>): Promise<void> => {
    if (isRunning.current) return;
    isRunning.current = true;
    set({ error: null, isBusy: true });
    try {
      const answer = await call();
      set({ error: null, isBusy: false });
      await onIssued(answer);
    } catch (error) {
      set({ error, isBusy: false });
    } finally {
      isRunning.current = false;
    }
  };
  return { ...state, run };
};

interface SecretDialogProps {
  readonly texts: Readonly<Record<'title' | 'say' | 'copy' | 'stored' | 'warning', string>>;
  readonly label: string;
  readonly secret: string;
  readonly onStored: () => void;
}

/** Shows a secret the one time. Only "I have stored it" closes it, so that none is lost by a slip. */
export function SecretDialog({ texts, label, secret, onStored }: SecretDialogProps) {
  const [isWarned, warn] = useState(false);
  const id = useId();
  return (
    <Dialog isOpen onOpenChange={() => warn(true)} title={texts.title} say={texts.say}>
      <div className="flex flex-col gap-1">
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        <div className="flex items-center gap-2">
          <input
            id={id}
            readOnly
            autoComplete="off"
            spellCheck={false}
            value={secret}
            onFocus={({ target }) => target.select()}
            className={`${CONTROL} font-mono text-[13px]`}
          />
          <Copy text={secret} name={texts.copy} />
        </div>
      </div>
      {isWarned && (
        <p role="alert" className="rounded-md bg-warn-soft p-2 text-warn">
          {texts.warning}
        </p>
      )}
      <div className="flex justify-end">
        <Button look="primary" onClick={onStored}>
          {texts.stored}
        </Button>
      </div>
    </Dialog>
  );
}
