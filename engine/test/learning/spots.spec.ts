import { expect } from 'chai';
import { sourceOf } from '../../extraction/source.ts';
import { textOfSpot, textSpots } from '../../learning/weights/spots.ts';
import { laidOut, type Placed } from '../support/laidOut.ts';

const textsOf = (...placed: readonly Placed[]): readonly string[] =>
  textSpots(sourceOf(laidOut([placed]))).map((spot) => textOfSpot(spot, ', '));

describe('places that may hold a text', () => {
  it('are lines that stand under each other about one middle', () => {
    const texts = textsOf(
      [100, 40, 'Lorem ipsum dolor sit'],
      [126, 52, 'amet elit 12'],
      [118, 64, '4711 Consectetur'],
    );
    expect(texts).to.include('amet elit 12, 4711 Consectetur');
  });

  it('are no lines that stand at different edges about different middles', () => {
    const texts = textsOf([100, 40, 'Lorem ipsum dolor sit'], [160, 52, 'amet elit sed']);
    expect(texts).to.not.include('Lorem ipsum dolor sit, amet elit sed');
  });

  it('are texts without their last words', () => {
    expect(textsOf([100, 40, 'Lorem ipsum dolor Ltd'])).to.include.members([
      'Lorem ipsum dolor',
      'Lorem ipsum',
      'Lorem ipsum dolor Ltd',
    ]);
  });
});
