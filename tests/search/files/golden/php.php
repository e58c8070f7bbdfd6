<?php

declare(strict_types=1);

namespace Acme\Mail;

use Acme\Mail\Transport\Smtp;
use InvalidArgumentException;

/** How many letters are sent at a time. */
const BATCH = 50;

define('MAIL_VERSION', '2.1');

/**
 * Something that sends letters.
 */
interface Transport
{
    /** Sends one. */
    public function send(Letter $letter): bool;
}

/**
 * A letter, with its state.
 *
 * @property-read string $subject
 */
#[Entity(table: 'letters')]
final class Letter implements \JsonSerializable
{
    use HasState;

    public const PRIORITY = 3;

    private array $recipients = [];

    /**
     * Makes a letter.
     *
     * @param string $subject its subject
     */
    public function __construct(
        private readonly string $subject,
        protected ?string $body = null,
    ) {
        $this->touch();
    }

    /**
     * Adds a recipient, unless it is known already.
     *
     * @throws InvalidArgumentException
     */
    #[Pure]
    public function to(string ...$addresses): static
    {
        foreach ($addresses as $address) {
            if (!filter_var($address, FILTER_VALIDATE_EMAIL)) {
                throw new InvalidArgumentException("bad address $address");
            }
            $this->recipients[] = self::normal($address);
        }

        return $this;
    }

    // The address in
    // lower case.
    private static function normal(string $address): string
    {
        return strtolower(trim($address));
    }

    public function jsonSerialize(): mixed
    {
        $hide = fn (string $name): string => substr($name, 0, 1);

        return ['subject' => $this->subject, 'to' => array_map($hide, $this->recipients)];
    }

    abstract protected function touch(): void;
}

trait HasState
{
    private State $state = State::Draft;

    /** Marks it as sent. */
    public function markSent(): void
    {
        $this->state = State::Sent;
        $this->logger?->info('sent', ['id' => $this->id]);
    }
}

/** What became of a letter. */
enum State: string
{
    case Draft = 'draft';
    case Sent = 'sent';

    /** Its name for people. */
    public function label(): string
    {
        return ucfirst($this->value);
    }
}

# Sends all letters, in batches.
function send_all(iterable $letters, ?Transport $transport = null): int
{
    $transport ??= new Smtp('localhost');
    $sent = 0;
    foreach ($letters as $letter) {
        $sent += (int) $transport->send($letter);
    }

    return $sent;
}

$logger = function (string $line) {
    error_log($line);
};
?>
<p><?= htmlspecialchars($title) ?></p>
