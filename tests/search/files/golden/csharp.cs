using System;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace Acme.Billing
{
    /// <summary>
    /// Sends invoices, and remembers which were paid.
    /// </summary>
    /// <remarks>Not for several threads.</remarks>
    [Serializable]
    public sealed partial class Billing<TKey> : Service, IBilling where TKey : notnull
    {
        private const int MaxTries = 3;

        private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

        private readonly Dictionary<TKey, Invoice> invoices = new();

        public event EventHandler? Paid;

        /// <summary>Makes a service that sends by <paramref name="mailer"/>.</summary>
        public Billing(IMailer mailer, string name = "billing")
            : base(name)
        {
            this.mailer = mailer ?? throw new ArgumentNullException(nameof(mailer));
        }

        ~Billing() => Dispose(false);

        /// <summary>The number of open invoices.</summary>
        public int Count => invoices.Count;

        public string Name { get; init; } = "";

        /// <summary>
        /// The invoice of a key, see <see cref="Invoice"/>.
        /// </summary>
        public Invoice this[TKey key]
        {
            get { return invoices[key]; }
            set { invoices[key] = value; }
        }

        public decimal Open
        {
            get
            {
                return invoices.Values.Where(each => !each.IsPaid).Sum(each => each.Total);
            }
        }

        /// <summary>Sends an invoice, at most three times.</summary>
        /// <param name="key">whose</param>
        /// <returns>Whether it was sent.</returns>
        [Obsolete("use SendAll")]
        public async Task<bool> Send(TKey key)
        {
            for (var attempt = 0; attempt < MaxTries; attempt++)
            {
                if (await mailer.Deliver<Invoice>(invoices[key])) return true;
                await Wait(attempt);
            }
            return false;

            Task Wait(int attempt) => Task.Delay(Pause * attempt);
        }

        // Marks it
        // as paid.
        internal void Pay(TKey key) => Paid?.Invoke(this, new PaidArgs(key));

        protected abstract void Dispose(bool all);

        public static bool operator ==(Billing<TKey> a, Billing<TKey> b) => ReferenceEquals(a, b);

        public static implicit operator int(Billing<TKey> billing) => billing.Count;

#if DEBUG
        public override string ToString()
        {
            return $"{Name}: {Count}";
        }
#endif

        #region Helpers
        private enum Step { First, Last }
        #endregion
    }

    /// <summary>What sends invoices.</summary>
    public interface IBilling
    {
        /// <summary>Sends one.</summary>
        Task<bool> Send(int key);

        bool IsReady() => true;
    }

    /// <summary>An invoice.</summary>
    public record Invoice(int Number, decimal Total)
    {
        public bool IsPaid { get; private set; }

        public string Line() => $"{Number} {Total:C}";
    }

    public readonly record struct Money(decimal Amount);

    public struct Pair { public int A; }

    public delegate decimal Discount(Invoice invoice);

    internal static class Extensions
    {
        public static T Second<T>(this IList<T> list) => list[1];
    }
}
