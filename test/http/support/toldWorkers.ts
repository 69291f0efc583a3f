import type { DocumentWorkers } from '@quire/engine/isolation/documentWorkers';

/** The same workers; `onWork` is told whose each piece of work is, as it is asked for. */
export const toldWorkers = (workers: DocumentWorkers, onWork: (share: string) => void): DocumentWorkers => {
  const { parser, localEngine, schemaValidator, tools, learner } = workers;
  /** `at`: which argument says whose work it is. */
  const told =
    <Args extends readonly unknown[], Answer>(work: (...args: Args) => Answer, at: number) =>
    (...args: Args): Answer => {
      onWork((args[at] as { readonly share: string }).share);
      return work(...args);
    };
  return {
    ...workers,
    parser: {
      ...parser,
      inspect: told(parser.inspect.bind(parser), 0),
      parse: told(parser.parse.bind(parser), 0),
      read: told(parser.read.bind(parser), 0),
      render: told(parser.render.bind(parser), 0),
    },
    localEngine: { ...localEngine, extract: told(localEngine.extract.bind(localEngine), 0) },
    schemaValidator: {
      check: told(schemaValidator.check.bind(schemaValidator), 1),
      validate: told(schemaValidator.validate.bind(schemaValidator), 2),
    },
    tools: {
      pictures: told(tools.pictures, 0),
      documentOf: told(tools.documentOf, 1),
      render: told(tools.render, 1),
      extractFrom: told(tools.extractFrom, 1),
      ground: told(tools.ground, 1),
      joined: told(tools.joined, 1),
      layoutText: told(tools.layoutText, 1),
      tableFile: told(tools.tableFile, 0),
      rankPages: told(tools.rankPages, 1),
      score: told(tools.score, 1),
    },
    expect: (share) => {
      onWork(share);
      workers.expect(share);
    },
    learner: { learn: told(learner.learn, 1) },
  };
};
