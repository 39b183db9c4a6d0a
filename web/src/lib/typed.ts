import { useEffect, useRef, useState } from "react";

/** How long typing rests before it is acted on. */
const PAUSE = 300;

/**
 * What is typed to narrow a list, shown at once; `onPause` hears it, without room around it, when typing pauses. A value that
 * comes from elsewhere, by Back or a button, takes its place. One that was told here does not: who goes on typing
 * meanwhile loses no letter.
 */
export function useTyped(value: string, onPause: (wanted: string) => void): [typed: string, type: (typed: string) => void] {
  const [typed, setTyped] = useState(value);
  const told = useRef(value);
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => {
    const timer = setTimeout(() => {
      const wanted = typed.trim();
      if (wanted === value) return;
      told.current = wanted;
      onPause(wanted);
    }, PAUSE);
    return () => clearTimeout(timer);
  });
  return [typed, setTyped];
}
