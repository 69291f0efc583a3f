import { useId, useState } from 'react';
import { keys as texts } from '../../texts/keys.ts';
import { Button } from '../../ui/button.tsx';
import { CONTROL } from '../../ui/form/control.ts';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { Copy } from '../../ui/values/copy.tsx';
import type { Issued } from './keys.ts';

/** Shows a key the one time. Only "I have stored it" closes it, so that no key is lost by a slip. */
export function SecretDialog({ issued, onStored }: { issued: Issued; onStored: () => void }) {
  const [isWarned, warn] = useState(false);
  const id = useId();
  return (
    <Dialog isOpen onOpenChange={() => warn(true)} title={texts.secret.title} say={texts.secret.say}>
      <div className="flex flex-col gap-1">
        <label htmlFor={id} className="font-medium">
          {issued.name ?? texts.secret.label}
        </label>
        <div className="flex items-center gap-2">
          <input
            id={id}
            readOnly
            autoComplete="off"
            spellCheck={false}
            value={issued.key}
            onFocus={({ target }) => target.select()}
            className={`${CONTROL} font-mono text-[13px]`}
          />
          <Copy text={issued.key} name={texts.secret.copy} />
        </div>
      </div>
      {isWarned && (
        <p role="alert" className="rounded-md bg-warn-soft p-2 text-warn">
          {texts.secret.warning}
        </p>
      )}
      <div className="flex justify-end">
        <Button look="primary" onClick={onStored}>
          {texts.secret.stored}
        </Button>
      </div>
    </Dialog>
  );
}
