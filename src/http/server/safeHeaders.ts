/**
 * What every answer carries: JSON loads nothing, is framed by nobody, read by no other origin and kept by no
 * cache. Made once; nothing of it depends on the request. Pages that need more say so themselves.
 */
const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** A year. Not for subdomains: those that are not ours may have no TLS. */
const HTTPS_ONLY = { 'Strict-Transport-Security': 'max-age=31536000' };

/** What a page adds, which a browser renders: it shares its process, window and devices with nobody. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Origin-Agent-Cluster': '?1',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'X-DNS-Prefetch-Control': 'off',
  'X-Download-Options': 'noopen',
  'X-Permitted-Cross-Domain-Policies': 'none',
  'X-XSS-Protection': '0',
};

/** The headers of every answer. `publicUrl`: where clients reach the service; HSTS only where that is https. */
export const safeHeaders = (publicUrl: string | undefined): Readonly<Record<string, string>> =>
  publicUrl?.toLowerCase().startsWith('https://') === true
    ? { ...SAFE_HEADERS, ...HTTPS_ONLY }
    : SAFE_HEADERS;
