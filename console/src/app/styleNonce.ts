import { setNonce } from 'get-nonce';
import { styleNonce } from '../ui/styleNonce.ts';

/** Lets the scroll lock of dialogs and menus add its style tag under the page's policy. */
export const giveStyleNonce = (): void => {
  const nonce = styleNonce();
  if (nonce !== undefined) setNonce(nonce);
};
