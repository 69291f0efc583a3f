import { useEffect, useRef, useState } from 'react';
import { Overlay } from './overlay.tsx';
import type { DrawSmall, ViewProps } from './viewProps.ts';

const SMALL_WIDTH = 160;

const drawPicture =
  (file: File): DrawSmall =>
  (_, canvas) => {
    let isGone = false;
    createImageBitmap(file, { resizeWidth: SMALL_WIDTH, resizeQuality: 'medium' }).then(
      (bitmap) => {
        if (!isGone) {
          canvas.width = bitmap.width;
          canvas.height = bitmap.height;
          canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
        }
        bitmap.close();
      },
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  };

/** A picture is one page. */
export function PictureView({ file, zoom, marks, chosen, onChoose, onOpened, onFault }: ViewProps) {
  const [address, keep] = useState<string>();
  const [size, measure] = useState({ width: 0, height: 0 });
  const tell = useRef(onOpened);
  useEffect(() => {
    const made = URL.createObjectURL(file);
    keep(made);
    tell.current({ pages: 1, drawSmall: drawPicture(file) });
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return (
    <div data-page={1} className="relative mx-auto" style={{ width: `${String(zoom * 100)}%` }}>
      <img
        src={address}
        alt={file.name}
        className="w-full"
        onError={onFault}
        onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
          measure({ width, height })
        }
      />
      {size.width > 0 && <Overlay {...size} marks={marks} chosen={chosen} onChoose={onChoose} />}
    </div>
  );
}
