import { expect } from 'chai';
import { extract } from '../../extraction/extract.ts';
import { openMail } from '../../formats/mail/openMail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { documentBy } from '../support/officeFiles.ts';

const mail = Buffer.from(
  [
    'Message-ID: <17@ponds.example>',
    'From: "Ada Low" <ada@ponds.example>',
    'To: bo@ponds.example, "Cy Dow" <cy@ponds.example>',
    'Subject: Frogs of May',
    'Date: Thu, 18 Jan 2024 09:52:17 +0000',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=x',
    '',
    '--x',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'From: nobody@else.example',
    'Cc: they@else.example',
    'Date: 1 March 2020',
    '--x',
    'Content-Type: application/octet-stream; name=counts.dat',
    'Content-Disposition: attachment; filename=counts.dat',
    '',
    'abc',
    '--x--',
  ].join('\r\n'),
);

const string = { type: 'string' };
const texts = { type: 'array', items: string };
const valueOf = async (properties: JsonObject): Promise<JsonObject> =>
  extract(await documentBy(openMail, mail), { type: 'object', properties }).value;

describe('the header of a message', () => {
  it('answers every schema, by the names that people give its parts', async () => {
    expect(
      await valueOf({
        from_email: string,
        sender_name: string,
        empfaenger: { ...texts, title: 'Empfänger', description: 'Adressen' },
        subject: string,
        sent: { type: 'string', format: 'date' },
        message_id: string,
        attachments: texts,
      }),
    ).to.deep.equal({
      from_email: 'ada@ponds.example',
      sender_name: 'Ada Low',
      empfaenger: ['bo@ponds.example', 'cy@ponds.example'],
      subject: 'Frogs of May',
      sent: '2024-01-18',
      message_id: '<17@ponds.example>',
      attachments: ['counts.dat'],
    });
  });

  it('says what is not there: the message below quotes another', async () => {
    expect(await valueOf({ cc: string, bcc: texts })).to.deep.equal({});
  });
});
