-- Fails for each file whose records are not those with rows, the losses and those that give no row by a rule.
select source_file, records, rows, losses, silent
from artifacts
where records <> rows + losses + silent
