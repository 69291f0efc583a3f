import { useEffect } from 'react';
import { shell } from '../../texts/shell.ts';
import { Empty } from '../../ui/empty.tsx';
import { tellSignedIn } from './signedIn.ts';

/** Where a window ends that was opened only to sign in: it tells the others, and closes where it may. */
export function SignedInPage() {
  useEffect(() => {
    tellSignedIn();
    window.close();
  }, []);
  return (
    <main className="mx-auto max-w-2xl p-6">
      <Empty title={shell.signIn.done} say={shell.signIn.doneSay} />
    </main>
  );
}
