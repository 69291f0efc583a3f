import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { oidcStart, readSession, type Session, type SignedIn } from '../../api/session.ts';
import { onSessionOver } from '../../api/sessionOver.ts';
import { sessionQuery } from '../../api/useSession.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { forgetGoal, keepGoal } from './returnTo.ts';
import { onSignedIn } from './signedIn.ts';
import { SignInForm } from './signInForm.tsx';

const { signIn: texts } = shell;

const END = '/signed-in';

/** The provider's pages in a window of their own: leaving this one would lose what was typed. */
const openProvider = (): void => {
  // the new window begins with a copy of what is kept here, and needs it where signing in fails at first
  keepGoal(END);
  window.open(oidcStart(`/app${END}`), 'quire-sign-in', 'popup,width=520,height=680');
  forgetGoal();
};

/** Another customer, or one who may more or less: what stands on the page is not for them. */
const isOther = (before: SignedIn, now: Session): boolean =>
  now.signed_in && (now.tenant_id !== before.tenant_id || now.role !== before.role);

/** The session that ended, and how to go on in a new one. */
const useOver = () => {
  const cache = useQueryClient();
  const [over, mark] = useState<SignedIn>();
  useEffect(
    () =>
      onSessionOver(() => {
        const session = cache.getQueryData(sessionQuery.queryKey);
        if (session?.signed_in === true) mark(session);
      }),
    [cache],
  );
  useEffect(() => {
    if (over === undefined) return undefined;
    const goOn = async (): Promise<void> => {
      const session = await readSession();
      if (!session.signed_in) return;
      if (isOther(over, session)) {
        sessionStorage.clear();
        window.location.reload();
        return;
      }
      cache.setQueryData(sessionQuery.queryKey, session);
      mark(undefined);
      void cache.refetchQueries({ predicate: ({ state }) => state.status === 'error' });
    };
    // what is not answered now is asked for again by signing in again
    return onSignedIn(() => void goOn().catch(() => undefined));
  }, [cache, over]);
  return { over, leave: () => mark(undefined) };
};

/** Asks to sign in over the page when the session ended: the page stays as it is, with what was typed. */
export function SignInAgain() {
  const { over, leave } = useOver();
  return (
    <Dialog isOpen={over !== undefined} onOpenChange={leave} title={texts.title} say={texts.over}>
      <SignInForm />
      {over?.methods.includes('oidc') === true && (
        <>
          <p className="text-center text-soft">{texts.or}</p>
          <Button className="justify-center" onClick={openProvider}>
            {texts.oidc}
          </Button>
          <p className="text-[13px] text-soft">{texts.oidcWindow}</p>
        </>
      )}
    </Dialog>
  );
}
