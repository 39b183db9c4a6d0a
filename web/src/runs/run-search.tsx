import { useEffect, useState } from "react";

import { SearchInput } from "@/components/ui/input";

/** Looks for runs by what they were called with. Asks when typing pauses. */
export function RunSearch({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    const timer = setTimeout(() => {
      if (typed.trim() !== text) onChange(typed.trim());
    }, 300);
    return () => clearTimeout(timer);
  });
  return (
    <SearchInput
      label="Search the inputs"
      placeholder="Search the inputs"
      maxLength={200}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      className="w-full sm:max-w-[320px]"
    />
  );
}
