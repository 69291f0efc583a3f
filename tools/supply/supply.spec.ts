import { expect } from 'chai';
import {
  auditResult,
  licenseBreaches,
  licenseOf,
  productionSbom,
  type Component,
  type Sbom,
} from './supply.ts';

describe('what production depends on', () => {
  let sbom: Sbom;
  before(async () => {
    sbom = await productionSbom();
  });

  it('is listed in an SBOM that is the same each time it is made', async () => {
    expect(sbom.bomFormat).to.equal('CycloneDX');
    expect(sbom.components.length).to.be.greaterThan(100);
    expect(sbom.components.map(({ name }) => name)).to.include.members(['express', 'pg', 'zod']);
    const text = JSON.stringify(sbom);
    expect(text).to.equal(JSON.stringify(await productionSbom()));
    expect(text).to.not.match(/serialNumber|"timestamp"/);
    expect(sbom['metadata']).to.have.nested.property('component.name', 'quire');
  });

  it('has also what the build copies from packages that are not installed then', () => {
    const names = sbom.components.map(({ name }) => name);
    expect(names).to.include.members([
      'pdfjs-dist',
      'swagger-ui-dist',
      '@tesseract.js-data/eng',
      '@tesseract.js-data/spa',
    ]);
    expect(names).to.include.members(['pdfkit', 'fontkit', 'brotli']);
    expect(names).to.not.include.members(['mocha']);
  });

  it('has licences that may be shipped: none of the GPL family, none unknown', () => {
    expect(licenseBreaches(sbom)).to.deep.equal([]);
    for (const component of sbom.components)
      expect(licenseOf(component), component.name).to.not.equal(undefined);
  });

  it('would be refused with a licence that may not be', () => {
    const of = (expression: string, name = 'a'): Component => ({
      name,
      version: '1',
      licenses: [{ expression }],
    });
    const refused = [
      of('AGPL-3.0-only'),
      of('MIT AND GPL-3.0-only'),
      of('LGPL-3.0-or-later'),
      of('SSPL-1.0'),
    ];
    expect(licenseBreaches({ components: refused })).to.have.length(4);
    expect(licenseBreaches({ components: [{ name: 'none', version: '1' }] })).to.deep.equal([
      'none@1: no licence',
    ]);
    const fine = [
      of('(GPL-2.0-only OR MIT)'),
      of('MIT AND ISC'),
      of('Apache-2.0 AND LGPL-3.0-or-later', '@img/sharp-x'),
    ];
    expect(licenseBreaches({ components: fine })).to.deep.equal([]);
  });
});

describe('the audit of dependencies', () => {
  const report = (severity: string) =>
    JSON.stringify({ auditReportVersion: 2, vulnerabilities: { a: { name: 'a', severity, range: '<2' } } });

  it('fails for what is grave, and only for that', () => {
    expect(auditResult(report('moderate'))).to.deep.equal({ kind: 'clean' });
    expect(auditResult(report('critical'))).to.deep.equal({ kind: 'found', lines: ['critical: a <2'] });
    expect(auditResult(report('high')).kind).to.equal('found');
  });

  it('passes over what only development has', () => {
    const out = JSON.stringify({
      auditReportVersion: 2,
      vulnerabilities: {
        a: {
          name: 'a',
          severity: 'high',
          range: '<2',
          nodes: ['node_modules/a', 'node_modules/b/node_modules/a'],
        },
      },
    });
    expect(auditResult(out, (node) => node === 'node_modules/c')).to.deep.equal({ kind: 'clean' });
    expect(auditResult(out, (node) => node.includes('/b/')).kind).to.equal('found');
  });

  it('never takes silence for a clean report', () => {
    for (const out of ['', 'not found', '{}', '{"message":"405 Method Not Allowed"}', '[]'])
      expect(auditResult(out).kind, out).to.equal('unknown');
  });
});
