/** The nonce that the page's policy lets style tags carry. */
export const styleNonce = (): string | undefined => {
  const tag = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]');
  return tag === null || tag.nonce === '' ? undefined : tag.nonce;
};
