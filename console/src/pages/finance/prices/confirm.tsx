import { useState, type ReactNode } from 'react';
import { finance as texts } from '../../../texts/finance.ts';
import { shell } from '../../../texts/shell.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';

interface ConfirmProps {
  readonly action: string;
  readonly title: string;
  readonly say: string;
  readonly isDisabled: boolean;
  readonly isBusy: boolean;
  readonly error: unknown;
  /** Gives whether it succeeded: then the question is closed. */
  readonly onConfirm: () => Promise<boolean>;
  readonly children: ReactNode;
}

/** Shows what is about to be published, and asks before it is. */
export function Confirm({
  action,
  title,
  say,
  isDisabled,
  isBusy,
  error,
  onConfirm,
  children,
}: ConfirmProps) {
  const [isOpen, open] = useState(false);
  const confirm = async (): Promise<void> => {
    if (await onConfirm()) open(false);
  };
  return (
    <>
      <Button look="primary" disabled={isDisabled} onClick={() => open(true)}>
        {action}
      </Button>
      <Dialog isOpen={isOpen} onOpenChange={open} title={title} say={say}>
        {children}
        <ProblemNote error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={() => open(false)}>{shell.cancel}</Button>
          <Button look="primary" isBusy={isBusy} onClick={() => void confirm()}>
            {texts.prices.confirm}
          </Button>
        </div>
      </Dialog>
    </>
  );
}
