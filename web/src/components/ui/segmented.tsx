import { cn } from "@/lib/cn";

/** A few choices side by side: radio buttons by another look. */
export function Segmented({
  name,
  label,
  labelledBy,
  describedBy,
  value,
  onChange,
  options,
  disabled,
  invalid,
}: {
  name: string;
  label?: string;
  labelledBy?: string;
  describedBy?: string;
  value: string | undefined;
  onChange: (value: string) => void;
  options: { value: string; title: string }[];
  disabled?: boolean;
  invalid?: boolean;
}) {
  return (
    <div
      role="radiogroup"
      aria-label={label}
      aria-labelledby={labelledBy}
      aria-describedby={describedBy}
      aria-invalid={invalid || undefined}
      className={cn("inline-flex max-w-full flex-wrap gap-0.5 rounded-lg bg-hover p-0.5", invalid && "ring-1 ring-danger")}
    >
      {options.map((option) => (
        <label key={option.value} className="relative">
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={value === option.value}
            disabled={disabled}
            onChange={() => onChange(option.value)}
            className="peer absolute inset-0 size-full cursor-pointer appearance-none rounded-md opacity-0 disabled:cursor-not-allowed"
          />
          <span className="flex h-8 items-center rounded-md border border-transparent px-3 text-sm font-medium text-ink-2 peer-checked:border-line-strong peer-checked:bg-raised peer-checked:text-ink peer-hover:text-ink peer-focus-visible:outline-2 peer-focus-visible:outline-offset-2 peer-focus-visible:outline-accent peer-disabled:opacity-50">
            {option.title}
          </span>
        </label>
      ))}
    </div>
  );
}
