import { useEffect, useState } from "react";

import { Input } from "@/components/ui/input";

/** A word to narrow by. Asks when typing pauses, and not for what could never fit. */
export function FilterInput({ label, placeholder, value, fits, onChange, className }: {
  label: string;
  placeholder: string;
  value: string;
  fits: RegExp;
  onChange: (value: string) => void;
  className?: string;
}) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const wanted = typed.trim();
  const odd = wanted !== "" && !fits.test(wanted);
  useEffect(() => {
    const timer = setTimeout(() => {
      if (wanted !== value && !odd) onChange(wanted);
    }, 300);
    return () => clearTimeout(timer);
  });
  return (
    <Input
      aria-label={label}
      placeholder={placeholder}
      maxLength={160}
      autoCapitalize="off"
      autoComplete="off"
      spellCheck={false}
      aria-invalid={odd || undefined}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      className={className}
    />
  );
}
