import { zipOf } from './officeFiles.ts';

/** What says where the book's own part is. */
export const CONTAINER =
  '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>' +
  '<rootfile full-path="book/main.opf"/></rootfiles></container>';
const page = (body: string): string =>
  '<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">' +
  `<head><title>no</title></head><body>${body}</body></html>`;

/** A book of pages by their names, given as the inner HTML of their bodies. */
export function epub(
  pages: Readonly<Record<string, string>>,
  members: Readonly<Record<string, string>> = {},
): Buffer {
  const names = Object.keys(pages);
  return zipOf({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': CONTAINER,
    'book/main.opf': `<package xmlns="http://www.idpf.org/2007/opf"><manifest>${names
      .map((name, i) => `<item id="i${i}" href="${encodeURIComponent(name)}"/>`)
      .join(
        '',
      )}</manifest><spine>${names.map((_, i) => `<itemref idref="i${i}"/>`).join('')}</spine></package>`,
    ...Object.fromEntries(names.map((name) => [`book/${name}`, page(pages[name] ?? '')])),
    ...members,
  });
}
