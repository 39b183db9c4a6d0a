import { Input } from "@/components/ui/input";
import { useTyped } from "@/lib/typed";

/** A word to narrow by. Asks when typing pauses, and not for what could never fit. */
export function FilterInput({ label, placeholder, value, fits, onChange, className }: {
  label: string;
  placeholder: string;
  value: string;
  fits: RegExp;
  onChange: (value: string) => void;
  className?: string;
}) {
  const isOdd = (wanted: string) => wanted !== "" && !fits.test(wanted);
  const [typed, setTyped] = useTyped(value, (wanted) => {
    if (!isOdd(wanted)) onChange(wanted);
  });
  return (
    <Input
      aria-label={label}
      placeholder={placeholder}
      maxLength={160}
      autoCapitalize="off"
      autoComplete="off"
      spellCheck={false}
      aria-invalid={isOdd(typed.trim()) || undefined}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      className={className}
    />
  );
}
